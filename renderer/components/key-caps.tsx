import { keycapsFor } from '../lib/key-chords.ts'
import styles from './key-caps.module.css'

/** Keycaps: `g p` renders two, one after the other. */
export function KeyCaps({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keycapsFor(keys).map((chord, index) => (
        <span key={index} className={styles.keysChord}>
          {chord.map((cap) => (
            <kbd key={cap} className={styles.keycap}>
              {cap}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  )
}
