import { DeploymentStatusCard } from '../deployments/index.ts'

/** Follows the deployment that a changed volume started. */
export function VolumeDeployment({ slug, id, onDismiss }: { slug: string; id: string; onDismiss: () => void }) {
  return (
    <DeploymentStatusCard
      slug={slug}
      id={id}
      onDismiss={onDismiss}
      messages={{
        running: 'Redeploying with the changed volumes…',
        ready: 'The app is running with the changed volumes.',
        failed: 'The deployment with the changed volumes failed. The previous version is still live with its files.',
        canceled: 'The deployment with the changed volumes was canceled. The previous version is still live with its files.',
      }}
    />
  )
}
