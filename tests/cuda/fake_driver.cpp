// A CUDA driver without a device: memory is the host's, and a "module" is a shared library
// in which every kernel has a function that runs the threads of one block. For tests.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*block_t)(void **args, int block, int threads, int blocks);

extern "C" {
int allocated = 0, launches = 0, contexts = 0;

int cuInit(unsigned) { return 0; }
int cuGetErrorString(int, const char **text) { *text = "a fake error"; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal != 0; }
int cuDevicePrimaryCtxRetain(void **context, int) { *context = (void *)1; return 0; }
int cuDeviceGetAttribute(int *value, int which, int)
{
    *value = which == 16 ? 2 : which == 75 ? 9 : which == 115 ? 1 : 0;
    return 0;
}
int cuCtxPushCurrent_v2(void *) { contexts++; return 0; }
int cuCtxPopCurrent_v2(void **) { contexts--; return 0; }
int cuModuleLoadData(void **module, const char *image)
{
    *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    return *module == 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    char full[200] = "block_";
    strncat(full, name, 180);
    *function = dlsym(module, full);
    return *function == 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t)
{
    *blocks = 1;
    return contexts < 1;
}
int cuLaunchKernel(block_t run, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                   unsigned, unsigned, void *, void **args, void *)
{
    launches++;
    for (unsigned b = 0; b < blocks; b++) run(args, b, threads, blocks);
    return contexts < 1;
}
int cuMemAlloc_v2(uint64_t *address, size_t size)
{
    allocated++;
    *address = (uint64_t)aligned_alloc(256, (size + 255) / 256 * 256);
    memset((void *)*address, 0xff, size);
    return contexts < 1;
}
int cuMemFree_v2(uint64_t address) { allocated--; free((void *)address); return contexts < 1; }
int cuMemAllocAsync(uint64_t *address, size_t size, void *) { return cuMemAlloc_v2(address, size); }
int cuMemFreeAsync(uint64_t address, void *) { return cuMemFree_v2(address); }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *)
{
    memcpy((void *)to, from, size);
    return contexts < 1;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *)
{
    memcpy(to, (void *)from, size);
    return contexts < 1;
}
int cuStreamSynchronize(void *) { return contexts < 1; }
int cuPointerGetAttribute(int *value, int, uint64_t) { *value = 0; return 0; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *)
{
    memcpy((void *)to, (void *)from, size);
    return contexts < 1;
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *)
{
    for (size_t i = 0; i < count; i++) ((unsigned *)to)[i] = value;
    return contexts < 1;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = *total = 1 << 28; return contexts < 1; }
int cuEventCreate(void **event, unsigned) { *event = (void *)1; return contexts < 1; }
int cuEventRecord(void *, void *) { return contexts < 1; }
int cuEventSynchronize(void *) { return contexts < 1; }
int cuEventElapsedTime(float *ms, void *, void *) { *ms = 1; return contexts < 1; }
}
