import { keycapsFor } from '../lib/key-chords.ts'
import './key-caps.css'

/** Keycaps: `g p` renders two, one after the other. */
export function KeyCaps({ keys }: { keys: string }) {
  return (
    <span className="keys">
      {keycapsFor(keys).map((chord, index) => (
        <span key={index} className="keys-chord">
          {chord.map((cap) => (
            <kbd key={cap} className="keycap">
              {cap}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  )
}
