import { FileArchive } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { useLatestDeployment, useRetryDeployment } from '../../api/deployments.ts'
import { useDeployFolder } from '../../api/projects.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { readPreference, writePreference } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { useFolderPicker } from '../../api/capabilities.ts'

/** Deploys a project without a repository, from a folder or from its last source. */
export function DeployFolderDialog({
  project,
  onOpenChange,
  onUpload,
}: {
  project: Project
  onOpenChange: (open: boolean) => void
  onUpload: () => void
}) {
  const key = `homeport.folder.${project.id}`
  const [path, setPath] = useState(() => readPreference(key) ?? '')
  const { data: latest } = useLatestDeployment(project.slug)
  const pickFolder = useFolderPicker()
  const [, navigate] = useLocation()
  const openDeployment = (id: string) => {
    onOpenChange(false)
    navigate(`/projects/${project.slug}/deployments/${id}`)
  }
  const deployFolder = useDeployFolder({
    hidesErrorToast: true,
    onSuccess({ deployment }) {
      writePreference(key, path.trim())
      openDeployment(deployment.id)
    },
  })
  const retry = useRetryDeployment({ onSuccess: ({ deployment_id }) => openDeployment(deployment_id) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    deployFolder.mutate({ body: { path: path.trim(), slug: project.slug } })
  }

  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Deploy ${project.name}`}
      description="This project has no repository, so it is deployed from a folder."
    >
      <form className="stack" onSubmit={submit}>
        <div className="source-line">
          <TextField
            label="Folder"
            mono
            required
            value={path}
            onChange={({ target }) => setPath(target.value)}
            placeholder="/home/me/my-app"
            hint="Deploys the folder as is, including uncommitted changes."
            error={deployFolder.error?.issueFor('path')}
          />
          {pickFolder && <Button onClick={() => void pickFolder().then((chosen) => chosen && setPath(chosen))}>Choose…</Button>}
        </div>
        {deployFolder.error && deployFolder.error.issues.length === 0 && <ProblemView problem={deployFolder.error} />}
        <footer className="dialog-footer">
          <Button icon={FileArchive} className="dialog-aside" onClick={onUpload}>
            Upload archive…
          </Button>
          {latest && (
            <Button busy={retry.isPending} onClick={() => retry.mutate({ params: { slug: project.slug, id: latest.id } })}>
              Redeploy last source
            </Button>
          )}
          <Button kind="primary" type="submit" busy={deployFolder.isPending}>
            Deploy
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
