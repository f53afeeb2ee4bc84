import { FileArchive } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { useLatest } from '../../api/queries.ts'
import { recall, remember } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { useFolderPicker } from './folder-picker.ts'

/** A project without a repository is deployed from a folder, or once more from what it was last built from. */
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
  const [path, setPath] = useState(() => recall(key) ?? '')
  const { data: latest } = useLatest(project.slug)
  const pickFolder = useFolderPicker()
  const [, go] = useLocation()
  const leave = (id: string) => {
    onOpenChange(false)
    go(`/projects/${project.slug}/deployments/${id}`)
  }
  const deployFolder = useAction('deployFolder', {
    quiet: true,
    onDone({ deployment }) {
      remember(key, path.trim())
      leave(deployment.id)
    },
  })
  const retry = useAction('retryDeployment', { onDone: ({ deployment_id }) => leave(deployment_id) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    deployFolder.mutate({ body: { path: path.trim(), slug: project.slug } })
  }

  return (
    <Dialog open onOpenChange={onOpenChange} title={`Deploy ${project.name}`} about="This project has no repository: it is deployed from a folder.">
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
            error={deployFolder.error?.issue('path')}
          />
          {pickFolder && <Button onClick={() => void pickFolder().then((chosen) => chosen && setPath(chosen))}>Choose…</Button>}
        </div>
        {deployFolder.error && deployFolder.error.issues.length === 0 && <ProblemView problem={deployFolder.error} />}
        <footer className="dialog-foot">
          <Button icon={FileArchive} className="dialog-aside" onClick={onUpload}>
            Upload an archive…
          </Button>
          {latest && (
            <Button busy={retry.isPending} onClick={() => retry.mutate({ params: { slug: project.slug, id: latest.id } })}>
              Build the last source again
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
