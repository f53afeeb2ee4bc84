import { Radio } from 'lucide-react'
import { localInstanceId } from '../lib/instance-path.ts'
import { Logo } from './logo.tsx'
import styles from './instance-icon.module.css'

/** Icon of an instance in its color: round with a signal for a remote one, the square logo for the local one. */
export function InstanceIcon({ connection, size = 26 }: { connection: { id: string; hue: number }; size?: number }) {
  const style = { '--hue': connection.hue } as React.CSSProperties
  return connection.id === localInstanceId ? (
    <span className={styles.instanceIcon} style={style}>
      <Logo size={size} />
    </span>
  ) : (
    <span className={`${styles.instanceIcon} ${styles.instanceIconRemote}`} style={{ ...style, width: size, height: size }}>
      <Radio size={Math.round(size * 0.58)} aria-hidden />
    </span>
  )
}
