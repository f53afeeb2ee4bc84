import { FileArchive } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useForm } from '../../lib/use-form.ts'
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
  const [lastPath] = useState(() => readPreference(key) ?? '')
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
      writePreference(key, form.values.path.trim())
      openDeployment(deployment.id)
    },
  })
  const retry = useRetryDeployment({ onSuccess: ({ deployment_id }) => openDeployment(deployment_id) })
  const form = useForm({
    initial: { path: lastPath },
    submission: deployFolder,
    onSubmit: ({ path }) => deployFolder.mutate({ body: { path: path.trim(), slug: project.slug } }),
  })

  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Deploy ${project.name}`}
      description="This project has no repository, so it is deployed from a folder."
    >
      <form className="stack" {...form.props}>
        <div className="field-line">
          <TextField
            label="Folder"
            mono
            required
            {...form.text('path')}
            placeholder="/home/me/my-app"
            hint="Deploys the folder as is, including uncommitted changes."
          />
          {pickFolder && <Button onClick={() => void pickFolder().then((chosen) => chosen && form.set({ path: chosen }))}>Choose…</Button>}
        </div>
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button icon={FileArchive} className="dialog-aside" onClick={onUpload}>
            Upload archive…
          </Button>
          {latest && (
            <Button busy={retry.isPending} onClick={() => retry.mutate({ params: { slug: project.slug, id: latest.id } })}>
              Redeploy last source
            </Button>
          )}
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Deploy
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
