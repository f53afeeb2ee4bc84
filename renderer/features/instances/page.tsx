import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Redirect, useSearchParams } from 'wouter'
import { problemFrom } from '../../api/problem.ts'
import { useHomeSession, useRemotes } from '../../api/remotes.ts'
import { base, homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'
import { AddDialog } from './add-dialog.tsx'
import { EditDialog, RemoveDialog, TokenDialog } from './change-dialogs.tsx'
import { InstanceRow, type Wish } from './instance-row.tsx'
import './page.css'

/** This machine and the others: how they are now, and all that is done to the list of them. */
export default function InstancesPage() {
  useTitle('Instances')
  const isHome = useConnection(({ current }) => current.id === homeId)
  const connections = useConnection((state) => state.connections)
  const { data: session } = useHomeSession()
  const { data: remotes, error, refetch } = useRemotes()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<{ id: string; wish: Wish } | null>(null)
  // The palette, or the switch, leads here with the wish already put.
  const isAdding = params.get('do') === 'add'
  const setAdding = (adding: boolean) => setParams(adding ? { do: 'add' } : {}, { replace: true })
  // The list is kept by the instance that served the page.
  if (!isHome) return <Redirect to={`~${base}/instances${isAdding ? '?do=add' : ''}`} replace />
  const isOwner = session?.user.is_instance_owner === true
  const chosen = connections.find(({ id }) => id === open?.id)
  const close = () => setOpen(null)
  return (
    <div className="page">
      <header className="page-head">
        <h1>Instances</h1>
        {isOwner && (
          <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
            Add an instance
          </Button>
        )}
      </header>
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      <div className="card">
        <ul className="instances" aria-label="Instances">
          {connections.map((connection, index) => (
            <InstanceRow key={connection.id} connection={connection} place={index + 1} onWish={(wish) => setOpen({ id: connection.id, wish })} />
          ))}
        </ul>
        {!remotes && !error && <SkeletonRows rows={2} height={76} />}
        {remotes && remotes.length < 2 && (
          <div className="instances-about">
            <h2>{isOwner ? 'Connect another instance' : 'One instance'}</h2>
            <p className="quiet">
              {isOwner
                ? 'A Homeport on a server, or a hosted account: add it by its address and an API token, and its projects are here beside your own, in a frame of another colour. What runs here can be promoted to it, and what runs there can be pulled.'
                : 'You are signed in to the one that served this page. Its owner alone brings others here.'}
            </p>
          </div>
        )}
      </div>
      {isAdding && isOwner && <AddDialog onClose={() => setAdding(false)} />}
      {chosen && open?.wish === 'edit' && <EditDialog connection={chosen} onClose={close} />}
      {chosen && open?.wish === 'token' && <TokenDialog connection={chosen} onClose={close} />}
      {chosen && open?.wish === 'remove' && <RemoveDialog connection={chosen} onClose={close} />}
    </div>
  )
}
