import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Redirect, useSearchParams } from 'wouter'
import { useHomeSession, useRemotes } from '../../api/remotes.ts'
import { toApiError } from '../../lib/api-error.ts'
import { basePath, localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { AddInstanceDialog } from './add-instance-dialog.tsx'
import { EditInstanceDialog, RemoveInstanceDialog, ReplaceTokenDialog } from './instance-dialogs.tsx'
import { InstanceRow, type InstanceAction } from './instance-row.tsx'
import styles from './page.module.css'

/** This machine and the remote instances, with their status and management. */
export default function InstancesPage() {
  useTitle('Instances')
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  const connections = useConnection((state) => state.connections)
  const { data: session } = useHomeSession()
  const { data: remotes, error, refetch } = useRemotes()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<{ id: string; action: InstanceAction } | null>(null)
  // The palette and the switcher open the dialog with this parameter.
  const isAdding = params.get('do') === 'add'
  const setAdding = (adding: boolean) => setParams(adding ? { do: 'add' } : {}, { replace: true })
  // The instance that served the page stores the list.
  if (!isHome) return <Redirect to={`~${basePath}/instances${isAdding ? '?do=add' : ''}`} replace />
  const isOwner = session?.user.is_instance_owner === true
  const chosen = connections.find(({ id }) => id === open?.id)
  const close = () => setOpen(null)
  return (
    <div className="page">
      <header className="page-header">
        <h1>Instances</h1>
        {isOwner && (
          <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
            Add instance
          </Button>
        )}
      </header>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      <div className="card">
        <ul className={styles.instances} aria-label="Instances">
          {connections.map((connection, index) => (
            <InstanceRow
              key={connection.id}
              connection={connection}
              position={index + 1}
              onAction={(action) => setOpen({ id: connection.id, action })}
            />
          ))}
        </ul>
        {!remotes && !error && <SkeletonRows rows={2} height={76} />}
        {remotes && remotes.length < 2 && (
          <div className={styles.instancesAbout}>
            <h2>{isOwner ? 'Connect another instance' : 'One instance'}</h2>
            <p className="text-muted">
              {isOwner
                ? 'Add a Homeport on a server or a hosted account with its URL and an API token. Its projects appear in this dashboard in a frame of another color. You can promote projects to it and pull projects from it.'
                : 'You are signed in to the instance that serves this page. Only its owner can connect others.'}
            </p>
          </div>
        )}
      </div>
      {isAdding && isOwner && <AddInstanceDialog onClose={() => setAdding(false)} />}
      {chosen && open?.action === 'edit' && <EditInstanceDialog connection={chosen} onClose={close} />}
      {chosen && open?.action === 'token' && <ReplaceTokenDialog connection={chosen} onClose={close} />}
      {chosen && open?.action === 'remove' && <RemoveInstanceDialog connection={chosen} onClose={close} />}
    </div>
  )
}
