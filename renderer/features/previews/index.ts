/** The parts that other features may use. */
export { SkippedPushes } from './skipped-pushes.tsx'
export { PreviewRows } from './preview-rows.tsx'
