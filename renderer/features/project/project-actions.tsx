import { Download, Ellipsis, ExternalLink, FileArchive, History, Rocket, RotateCw, Send, Square, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { useOffered } from '../../api/offered.ts'
import { useLatest, useServing } from '../../api/queries.ts'
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx'
import { Dialog, NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { lazyPart } from '../../ui/load-part.ts'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { openAddress } from '../frame/outside.ts'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { useCrossings } from '../promote/crossings.ts'
import { UploadDialog } from '../upload/upload-dialog.tsx'
import { useProjectUpload } from '../upload/use-project-upload.ts'
import { useAddress } from './address.ts'
import { DeployFolderDialog } from './deploy-folder-dialog.tsx'
import { RollbackDialog } from './rollback-dialog.tsx'
import { useRestart } from './use-restart.ts'

const PromoteDialog = lazyPart(() => import('../promote/dialog.tsx'))

/** Deploy, Open, Stop, Roll back, Delete: all that is done to a whole project. */
export function ProjectActions({ project }: { project: Project }) {
  const [opened, setDialog] = useState<'folder' | 'upload' | 'rollback' | 'stop' | 'delete' | null>(null)
  const [params, setParams] = useSearchParams()
  // The palette, or a link, leads here with the wish already put.
  const wish = params.get('do')
  const dialog = opened ?? (wish === 'upload' || wish === 'stop' ? wish : null)
  const crossing = wish === 'promote' || wish === 'pull' ? wish : null
  const crossings = useCrossings()
  const address = useAddress(project.slug)
  const { data: latest } = useLatest(project.slug)
  const { data: serving } = useServing(project.slug)
  const [, go] = useLocation()
  const input = { params: { slug: project.slug } }
  const offered = useOffered()
  const { upload, take } = useProjectUpload(project.slug)
  const deploy = useAction('deployProject', { onDone: ({ deployment_id }) => go(`/projects/${project.slug}/deployments/${deployment_id}`) })
  const stop = useAction('stopProject', { quiet: true, done: `${project.name} is stopped. Deploy it to start it again.`, onDone: () => close() })
  const restart = useRestart(project.slug)
  const remove = useAction('deleteProject', { quiet: true, done: `${project.name} is deleted.`, onDone: () => go('/') })
  const isLive = Boolean(serving)
  const isStopped = project.status === 'inactive' || project.status === 'created'
  const close = () => {
    stop.reset()
    setDialog(null)
    if (wish === dialog) setParams({}, { replace: true })
  }
  const deployIt = () => (project.is_connected ? deploy.mutate(input) : setDialog(offered.folders ? 'folder' : 'upload'))
  useShortcuts({
    deploy: () => !deploy.isPending && deployIt(),
    open: isLive && address !== null && (() => openAddress(address)),
  })

  return (
    <div className="page-actions">
      {isLive && address && (
        <ButtonLink href={address} icon={ExternalLink}>
          Open
        </ButtonLink>
      )}
      <Button kind="primary" icon={Rocket} busy={deploy.isPending} onClick={deployIt}>
        Deploy
      </Button>
      <Menu trigger={<IconButton icon={Ellipsis} label="More actions" />}>
        <MenuItem icon={FileArchive} disabled={upload?.state === 'sending'} onSelect={() => setDialog('upload')}>
          Upload an archive…
        </MenuItem>
        <MenuItem icon={History} disabled={!latest} onSelect={() => setDialog('rollback')}>
          Roll back…
        </MenuItem>
        {crossings.promote && (
          <MenuItem icon={Send} onSelect={() => setParams({ do: 'promote' })}>
            Promote…
          </MenuItem>
        )}
        {crossings.pull && (
          <MenuItem icon={Download} onSelect={() => setParams({ do: 'pull' })}>
            Pull to this machine…
          </MenuItem>
        )}
        <MenuItem icon={RotateCw} disabled={!serving || restart.isPending} onSelect={() => serving && restart.mutate(serving)}>
          Restart
        </MenuItem>
        <MenuItem icon={Square} disabled={isStopped} onSelect={() => setDialog('stop')}>
          Stop…
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger onSelect={() => setDialog('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      {dialog === 'folder' && <DeployFolderDialog project={project} onOpenChange={() => setDialog(null)} onUpload={() => setDialog('upload')} />}
      {dialog === 'upload' && <UploadDialog name={project.name} onTake={take} onOpenChange={close} />}
      {crossing && (
        <Suspense>
          <PromoteDialog
            slug={project.slug}
            name={project.name}
            kind={crossing}
            deploymentId={params.get('deployment')}
            onOpenChange={() => setParams({}, { replace: true })}
          />
        </Suspense>
      )}
      {dialog === 'rollback' && <RollbackDialog slug={project.slug} onOpenChange={() => setDialog(null)} />}
      {dialog === 'stop' && (
        <Dialog
          open
          onOpenChange={close}
          title={`Stop ${project.name}?`}
          about="Visitors see a page that says that it is stopped. Its deployments, variables and data stay; deploy it to start it again."
        >
          {stop.error && <ProblemView problem={stop.error} />}
          <footer className="dialog-foot">
            <Button onClick={close}>Cancel</Button>
            <Button kind="danger" busy={stop.isPending} onClick={() => stop.mutate(input)}>
              Stop project
            </Button>
          </footer>
        </Dialog>
      )}
      <NamedConfirm
        open={dialog === 'delete'}
        onOpenChange={() => {
          remove.reset()
          setDialog(null)
        }}
        title={`Delete ${project.name}?`}
        about="Its app stops at once. Its deployments, builds and logs are deleted for good; the source stays where it is."
        name={project.slug}
        action="Delete the project"
        busy={remove.isPending}
        onConfirm={() => remove.mutate(input)}
      >
        {remove.error && <ProblemView problem={remove.error} />}
      </NamedConfirm>
    </div>
  )
}
