/** What other features may use. */
export { Dumps, type DumpTarget } from './dumps.tsx'
export { DeleteDumpDialog } from './delete-dump-dialog.tsx'
