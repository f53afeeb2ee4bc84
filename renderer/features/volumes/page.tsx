import { HardDrive, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import { useUnsavedFiles, useVolumes } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { EnvironmentSelect } from '../../components/environment-select.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { AddVolumeDialog } from './add-volume-dialog.tsx'
import { UnsavedFilesCard } from './unsaved-files-card.tsx'
import { VolumeCard } from './volume-card.tsx'
import { VolumeDeployment } from './volume-deployment.tsx'
import { VolumeFiles } from './volume-files.tsx'
import styles from './volumes.module.css'

/** The volumes of a project: files that are kept across deployments. */
export default function VolumesPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Volumes · ${project?.name ?? slug}`)
  const { params, change, replace } = useQueryParams()
  const branch = params.get('branch')
  const browsed = params.get('volume')
  const previewsQuery = usePreviews(slug)
  const volumesQuery = useVolumes(slug, branch)
  const { data, error, refetch } = volumesQuery
  const isLoading = useInitialLoading([volumesQuery, previewsQuery, useUnsavedFiles(slug)])
  const [startedId, setStartedId] = useState<string | null>(null)
  const isAdding = params.get('do') === 'add'
  const setAdding = (isOpen: boolean) => change({ do: isOpen ? 'add' : null })
  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (data === undefined || isLoading) return <SkeletonRows rows={3} height={72} />
  if (data === null)
    return (
      <div className="card">
        <EmptyState icon={HardDrive} title="No volumes">
          This account has none. Homeport on your own machine has them.
        </EmptyState>
      </div>
    )
  if (browsed !== null) return <VolumeFiles key={browsed} slug={slug} branch={branch} name={browsed} path={params.get('path') ?? ''} />
  return (
    <div className="stack">
      {startedId !== null && <VolumeDeployment slug={slug} id={startedId} onDismiss={() => setStartedId(null)} />}
      <EnvironmentSelect
        branch={branch}
        previews={previewsQuery.data}
        className={styles.environment}
        onChange={(next) => replace({ branch: next })}
      />
      {branch === null && <UnsavedFilesCard slug={slug} onDeployed={setStartedId} />}
      {data.length === 0 ? (
        <section className="card" aria-label="Volumes">
          <EmptyState
            icon={HardDrive}
            title="No volumes"
            action={
              branch === null ? (
                <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
                  Add volume
                </Button>
              ) : undefined
            }
          >
            A volume keeps uploads, SQLite files and other data across deployments. Add one for a path of the app, or{' '}
            <Link href="/help/volumes">declare it in homeport.yaml</Link>.
          </EmptyState>
        </section>
      ) : (
        <>
          <div className={styles.toolbar}>
            <HelpLink topic="volumes">How volumes work</HelpLink>
            {branch === null && (
              <Button icon={Plus} onClick={() => setAdding(true)}>
                Add volume
              </Button>
            )}
          </div>
          {data.map((volume) => (
            <VolumeCard key={volume.name} slug={slug} branch={branch} volume={volume} onDeployed={setStartedId} />
          ))}
        </>
      )}
      {isAdding && <AddVolumeDialog slug={slug} onClose={() => setAdding(false)} onAdded={setStartedId} />}
    </div>
  )
}
