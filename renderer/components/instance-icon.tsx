import { Radio } from 'lucide-react'
import { localInstanceId } from '../lib/instance-path.ts'
import { Logo } from './logo.tsx'
import './instance-icon.css'

/** Icon of an instance in its color: round with a signal for a remote one, the square logo for the local one. */
export function InstanceIcon({ connection, size = 26 }: { connection: { id: string; hue: number }; size?: number }) {
  const style = { '--hue': connection.hue } as React.CSSProperties
  return connection.id === localInstanceId ? (
    <span className="instance-icon" style={style}>
      <Logo size={size} />
    </span>
  ) : (
    <span className="instance-icon instance-icon-remote" style={{ ...style, width: size, height: size }}>
      <Radio size={Math.round(size * 0.58)} aria-hidden />
    </span>
  )
}
