import { Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { base } from '../../stores/address.ts'
import type { Connection } from '../../stores/connection.ts'
import { hostOf } from '../instances/host.ts'
import { InstanceMark } from '../instances/instance-mark.tsx'

/** Whose projects these are, over every page of another instance. */
export function RemoteBar({ connection }: { connection: Connection }) {
  return (
    <div className="remote-bar" role="region" aria-label="Instance in front">
      <InstanceMark connection={connection} size={22} />
      <p className="remote-bar-who">
        <strong className="clip">{connection.name}</strong>
        <span className="mono clip">{hostOf(connection.origin)}</span>
      </p>
      <Link href={`~${base}/`} className="remote-bar-home">
        <Undo2 size={14} aria-hidden /> To this machine
      </Link>
    </div>
  )
}
