-- An export as Nsight Systems writes it: process 100 on device 0, process 101 on device 1, and a process without one.
-- A global number holds the process above its lowest 24 bits and the thread in them.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'gemm'),
    (3, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)'), (4, 'cudaLaunchKernel_v7000'),
    (5, 'cudaStreamSynchronize_v3020'), (6, 'python');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, gridX INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 1, 7, 11, 100 << 24, 1, 2, 1),
    (1200, 1800, 0, 1, 20, 12, 100 << 24, 3, 3, 1), (2000, 3000, 0, 1, 7, 13, 100 << 24, 1, 2, 1),
    (1010, 1400, 1, 1, 7, 11, 101 << 24, 1, 2, 1), (1500, 1200, 1, 1, 7, 12, 101 << 24, 99, 2, 1),
    ('soon', 1200, 1, 1, 7, 12, 101 << 24, 1, 2, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3200, 0, 7, 14, 100 << 24, 4096, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, (100 << 24) + 100, 11, 4),
    (3000, 3300, (100 << 24) + 100, 15, 5), (900, 960, (101 << 24) + 101, 11, 4), (10, 20, (102 << 24) + 102, 1, 4);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, syncType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1100, 1150, 0, 20, 16, 100 << 24, 2),
    (3000, 3300, 0, 7, 15, 100 << 24, 3);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER,
    domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'MPI', NULL, (100 << 24) + 100, 1),
    (1, NULL, 39, 'MPI Rank 1', NULL, (100 << 24) + 100, 0), (1, NULL, 39, 'MPI Rank 0', NULL, (101 << 24) + 101, 0),
    (800, 3400, 59, 'ProfilerStep#4', NULL, (100 << 24) + 100, 0),
    (810, 820, 59, 'MPI_Barrier', NULL, (100 << 24) + 100, 1), (820, NULL, 60, 'open', NULL, (100 << 24) + 100, 0);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100', 42949672960, 108), (1, 'NVIDIA A100', 42949672960, 108);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'node7');
CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (6, (100 << 24) + 100);
