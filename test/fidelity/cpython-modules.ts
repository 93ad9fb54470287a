import type { DifferenceName } from '../../scripts/fidelity/differences-on-purpose.ts';

/** Tests of CPython's own suite that depend on the interpreter's surroundings: whole modules, and of long modules the relevant classes. */
export const CPYTHON_MODULES: readonly (readonly string[])[] = [
  ['test.test_subprocess'],
  classes('test.test_signal', [
    'GenericTests',
    'PosixTests',
    'WakeupFDTests',
    'WakeupSocketSignalTests',
    'ItimerTest',
    'RaiseSignalTest',
    'PidfdSignalTest',
  ]),
  ['test.test_threading'],
  ['test.test_faulthandler'],
  ['test.test_asyncio.test_subprocess'],
  ['test.test_asyncio.test_unix_events', 'test.test_asyncio.test_runners'],
  ['test.test_asyncio.test_streams'],
  classes('test.test_multiprocessing_fork', [
    'WithProcessesTestProcess',
    'WithProcessesTestQueue',
    'WithProcessesTestPool',
    'WithManagerTestCondition',
  ]),
  classes('test.test_multiprocessing_spawn', [
    'WithProcessesTestLock',
    'WithProcessesTestValue',
    'WithManagerTestContainers',
  ]),
  classes('test.test_multiprocessing_forkserver', ['WithProcessesTestEvent']),
  classes('test.test_concurrent_futures', ['ThreadPoolShutdownTest']),
  ['test.test_cmd_line'],
  ['test.test_cmd_line_script'],
  ['test.test_runpy'],
  ['test.test_site'],
  ['test.test_sys'],
  ['test.test_atexit'],
  ['test.test_warnings'],
  classes('test.test_logging', [
    'BuiltinLevelsTest',
    'HandlerTest',
    'StreamHandlerTest',
    'MemoryHandlerTest',
    'UnixSocketHandlerTest',
    'EncodingTest',
    'WarningsTest',
    'LastResortTest',
    'ShutdownTest',
    'ModuleLevelMiscTest',
    'BasicConfigTest',
    'FileHandlerTest',
    'RotatingFileHandlerTest',
  ]),
  classes('test.test_io', ['CIOTest', 'CBufferedWriterTest', 'CTextIOWrapperTest', 'CMiscIOTest']),
  ['test.test_fileio', 'test.test_gzip'],
  ['test.test_os'],
  ['test.test_posix'],
  ['test.test_tempfile'],
  ['test.test_shutil'],
  ['test.test_shelve', 'test.test_dbm'],
  classes('test.test_zipfile', ['StoredTestsWithSourceFile', 'OtherTests', 'ZipInfoTests']),
  ['test.test_time', 'test.test_locale'],
  ['test.test_traceback', 'test.test_exceptions'],
  ['test.test_pty', 'test.test_select', 'test.test_fcntl', 'test.test_mmap'],
  ['test.test_pwd', 'test.test_grp', 'test.test_mimetypes', 'test.test_getpass'],
];

/** The intended differences, by patterns of the rows `plain alone: ID` and `job alone: ID`. */
export const CPYTHON_DIFFERENCES: readonly { ids: RegExp; reason: DifferenceName }[] = [
  // A file in a sandbox cannot be larger than the workspace.
  { ids: /^plain alone: test\.test_mmap\.LargeMmapTests\./, reason: 'limits' },
  // The test needs a reachable limit of descriptors. It is skipped if the limit is high.
  { ids: /^job alone: test\.test_subprocess\.ProcessTestCase(?:NoPoll)?\.test_no_leaking$/, reason: 'limits' },
];

function classes(module: string, names: readonly string[]): string[] {
  return names.map((name) => `${module}.${name}`);
}
