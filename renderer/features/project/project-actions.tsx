import {
  DatabaseZap,
  Download,
  Ellipsis,
  ExternalLink,
  FileArchive,
  History,
  Rocket,
  RotateCw,
  Send,
  Square,
  SquareTerminal,
  Trash2,
} from 'lucide-react'
import { Suspense, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useCreateDeployment, useLatestDeployment, useRestart, useServingDeployment } from '../../api/deployments.ts'
import { useDeleteProject, useDeployProject, useStopProject } from '../../api/projects.ts'
import { actionLabels } from '../../../server/contract/labels.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useCapabilities, usePromotionTargets } from '../../api/capabilities.ts'
import { Button, ButtonLink, IconButton } from '../../components/button.tsx'
import { Dialog, ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { lazyWithRetry } from '../../lib/load-with-retry.ts'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { openExternalUrl } from '../../lib/external-links.ts'
import { useShortcuts } from '../../stores/shortcuts.ts'
import { UploadArchiveDialog, useProjectUpload } from '../upload/index.ts'
import { useAppUrl } from '../../api/app-url.ts'
import { DeployFolderDialog } from './deploy-folder-dialog.tsx'
import { RollbackDialog } from './rollback-dialog.tsx'

const PromoteDialog = lazyWithRetry(async () => ({ default: (await import('../promotion/index.ts')).PromoteDialog }))

/** Dialogs that have an address. */
const linkedDialogs = ['upload', 'stop', 'rollback', 'delete'] as const

/** Actions of a whole project: deploy, open, stop, roll back, delete. */
export function ProjectActions({ project }: { project: Project }) {
  const [openedDialog, setDialog] = useState<'folder' | 'upload' | 'rollback' | 'stop' | 'delete' | null>(null)
  const [params, setParams] = useSearchParams()
  // The palette and links open the dialog with this parameter.
  const requestedAction = params.get('do')
  const dialog = openedDialog ?? linkedDialogs.find((one) => one === requestedAction) ?? null
  const promotionKind = requestedAction === 'promote' || requestedAction === 'pull' ? requestedAction : null
  const promotionTargets = usePromotionTargets()
  const address = useAppUrl(project.slug)
  const { data: latest } = useLatestDeployment(project.slug)
  const { data: serving } = useServingDeployment(project.slug)
  const [, navigate] = useLocation()
  const input = { params: { slug: project.slug } }
  const capabilities = useCapabilities()
  const { upload, take: uploadDropped } = useProjectUpload(project.slug)
  const deploy = useDeployProject({
    onSuccess: ({ deployment_id }) => navigate(`/projects/${project.slug}/deployments/${deployment_id}`),
  })
  const deployWithOptions = useCreateDeployment({
    onSuccess: ({ deployment_id }) => navigate(`/projects/${project.slug}/deployments/${deployment_id}`),
  })
  // Without a repository the source of the last deployment is built again.
  const rebuilt = serving ?? latest
  const stop = useStopProject({
    hidesErrorToast: true,
    successMessage: `${project.name} stopped. Deploy to start it again.`,
    onSuccess: () => close(),
  })
  const restart = useRestart(project.slug)
  const remove = useDeleteProject({
    hidesErrorToast: true,
    successMessage: `${project.name} deleted.`,
    onSuccess: () => navigate('/'),
  })
  const isLive = Boolean(serving)
  const isStopped = project.status === 'inactive' || project.status === 'created'
  const close = () => {
    stop.reset()
    setDialog(null)
    if (requestedAction === dialog) setParams({}, { replace: true })
  }
  const startDeployment = () => (project.is_connected ? deploy.mutate(input) : setDialog(capabilities.can_deploy_folders ? 'folder' : 'upload'))
  useShortcuts({
    deploy: () => !deploy.isPending && startDeployment(),
    open: isLive && address !== null && (() => openExternalUrl(address)),
  })

  return (
    <div className="page-actions">
      {isLive && address && (
        <ButtonLink href={address} icon={ExternalLink}>
          Open
        </ButtonLink>
      )}
      <Button kind="primary" icon={Rocket} busy={deploy.isPending} onClick={startDeployment}>
        {actionLabels.deploy}
      </Button>
      <Menu trigger={<IconButton icon={Ellipsis} label="More actions" />}>
        {capabilities.has_instance_api && (
          <MenuItem
            icon={DatabaseZap}
            disabled={deployWithOptions.isPending || (!project.is_connected && !rebuilt)}
            onSelect={() =>
              deployWithOptions.mutate({
                ...input,
                body: { no_cache: true, ...(!project.is_connected && rebuilt && { deployment_id: rebuilt.id }) },
              })
            }
          >
            Deploy without cache
          </MenuItem>
        )}
        <MenuItem icon={FileArchive} disabled={upload?.state === 'sending'} onSelect={() => setDialog('upload')}>
          Upload archive…
        </MenuItem>
        {capabilities.has_instance_api && (
          <MenuItem icon={SquareTerminal} disabled={!serving} onSelect={() => navigate(`/projects/${project.slug}/terminal`)}>
            Open terminal
          </MenuItem>
        )}
        <MenuItem icon={History} disabled={!latest} onSelect={() => setDialog('rollback')}>
          {actionLabels.rollback}…
        </MenuItem>
        {promotionTargets.promote && (
          <MenuItem icon={Send} onSelect={() => setParams({ do: 'promote' })}>
            {actionLabels.promote}…
          </MenuItem>
        )}
        {promotionTargets.pull && (
          <MenuItem icon={Download} onSelect={() => setParams({ do: 'pull' })}>
            Pull to this machine…
          </MenuItem>
        )}
        <MenuItem icon={RotateCw} disabled={!serving || restart.isPending} onSelect={() => serving && restart.mutate(serving)}>
          {actionLabels.restart}
        </MenuItem>
        <MenuItem icon={Square} disabled={isStopped} onSelect={() => setDialog('stop')}>
          {actionLabels.stop}…
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={Trash2} danger onSelect={() => setDialog('delete')}>
          {actionLabels.delete}…
        </MenuItem>
      </Menu>
      {dialog === 'folder' && <DeployFolderDialog project={project} onOpenChange={() => setDialog(null)} onUpload={() => setDialog('upload')} />}
      {dialog === 'upload' && <UploadArchiveDialog name={project.name} onSource={uploadDropped} onOpenChange={close} />}
      {promotionKind && (
        <Suspense>
          <PromoteDialog
            slug={project.slug}
            name={project.name}
            kind={promotionKind}
            deploymentId={params.get('deployment')}
            onOpenChange={() => setParams({}, { replace: true })}
          />
        </Suspense>
      )}
      {dialog === 'rollback' && <RollbackDialog slug={project.slug} onOpenChange={close} />}
      {dialog === 'stop' && (
        <Dialog
          open
          onOpenChange={close}
          title={`Stop ${project.name}?`}
          description="Visitors see a page that says the app is stopped. Deployments, variables and data are kept; deploy to start it again."
        >
          {stop.error && <ProblemView problem={stop.error} />}
          <footer className="dialog-footer">
            <Button onClick={close}>Cancel</Button>
            <Button kind="danger" busy={stop.isPending} onClick={() => stop.mutate(input)}>
              Stop project
            </Button>
          </footer>
        </Dialog>
      )}
      <ConfirmByNameDialog
        open={dialog === 'delete'}
        onOpenChange={() => {
          remove.reset()
          close()
        }}
        title={`Delete ${project.name}?`}
        description="The app stops immediately. Deployments, builds and logs are permanently deleted; your source is not affected."
        name={project.slug}
        action="Delete project"
        busy={remove.isPending}
        onConfirm={() => remove.mutate(input)}
      >
        {remove.error && <ProblemView problem={remove.error} />}
      </ConfirmByNameDialog>
    </div>
  )
}
