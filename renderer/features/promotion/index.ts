/** The parts that other features may use. `PromoteDialog` is loaded on demand. */
export { PromoteDialog } from './promote-dialog.tsx'
export { PullFromInstance } from './pull-from-instance.tsx'
