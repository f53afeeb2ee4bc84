import { useState } from 'react'
import { UnsavedFilesCard } from './unsaved-files-card.tsx'
import { VolumeDeployment } from './volume-deployment.tsx'

/** On the overview of a project: the unsaved files, and the deployment that keeps them. */
export function UnsavedFilesNotice({ slug }: { slug: string }) {
  const [startedId, setStartedId] = useState<string | null>(null)
  return (
    <>
      {startedId !== null && <VolumeDeployment slug={slug} id={startedId} onDismiss={() => setStartedId(null)} />}
      <UnsavedFilesCard slug={slug} onDeployed={setStartedId} />
    </>
  )
}
