/** The parts that other features may use. */
export { DeploymentStatusCard } from './deployment-status-card.tsx'
