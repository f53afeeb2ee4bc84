/** What other features may use. */
export { PreviewRows } from './preview-rows.tsx'
