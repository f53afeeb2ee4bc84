import { Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { basePath, hostLabel } from '../lib/instance-path.ts'
import type { InstanceConnection } from '../stores/connection.ts'
import { InstanceIcon } from '../components/instance-icon.tsx'

/** Names the remote instance on each of its pages. */
export function RemoteBanner({ connection }: { connection: InstanceConnection }) {
  return (
    <div className="remote-banner" role="region" aria-label="Remote instance">
      <InstanceIcon connection={connection} size={22} />
      <p className="remote-banner-name">
        <strong className="truncate">{connection.name}</strong>
        <span className="mono truncate">{hostLabel(connection.origin)}</span>
      </p>
      <Link href={`~${basePath}/`} className="remote-banner-home">
        <Undo2 size={14} aria-hidden /> Back to this machine
      </Link>
    </div>
  )
}
