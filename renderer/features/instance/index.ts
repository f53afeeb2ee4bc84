/** The parts that other features may use. */
export { InstanceHeader } from './instance-header.tsx'
export { OwnerPage } from './owner-page.tsx'
export { RecoveryNotice } from './recovery-notice.tsx'
export { RuntimeReport } from './runtime-report.tsx'
