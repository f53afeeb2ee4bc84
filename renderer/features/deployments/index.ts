/** The parts that other features may use. */
export { DeploymentStatusCard, redeployMessages } from './deployment-status-card.tsx'
export { RollbackConfirmDialog } from './rollback-confirm-dialog.tsx'
