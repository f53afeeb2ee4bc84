/** What other features may use. */
export { DeleteDumpDialog } from './delete-dump-dialog.tsx'
