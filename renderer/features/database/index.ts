/** The parts that other features may use. */
export { Dumps } from './dumps.tsx'
export { DeleteDumpDialog } from './delete-dump-dialog.tsx'
