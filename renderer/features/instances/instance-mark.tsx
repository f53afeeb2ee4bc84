import { Radio } from 'lucide-react'
import type { Connection } from '../../stores/connection.ts'
import { homeId } from '../../stores/address.ts'
import { Logo } from '../../ui/logo.tsx'

/** The mark of an instance in its colour: round and sending for another one, the square logo for the one at home. */
export function InstanceMark({ connection, size = 26 }: { connection: Pick<Connection, 'id' | 'hue'>; size?: number }) {
  const style = { '--hue': connection.hue } as React.CSSProperties
  return connection.id === homeId ? (
    <span className="instance-mark" style={style}>
      <Logo size={size} />
    </span>
  ) : (
    <span className="instance-mark instance-mark-remote" style={{ ...style, width: size, height: size }}>
      <Radio size={Math.round(size * 0.58)} aria-hidden />
    </span>
  )
}
