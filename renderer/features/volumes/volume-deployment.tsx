import { DeploymentStatusCard, redeployMessages } from '../deployments/index.ts'

const messages = redeployMessages('the changed volumes', ' with its files')

/** Follows the deployment that a changed volume started. */
export const VolumeDeployment = (props: { slug: string; id: string; onDismiss: () => void }) => (
  <DeploymentStatusCard {...props} messages={messages} />
)
