import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'

/** Asks for a time in the time zone of the browser. `onJump` gets it in UTC. */
export function JumpDialog({ onJump, onClose }: { onJump: (time: string) => void; onClose: () => void }) {
  const [value, setValue] = useState(() => toLocalInput(new Date()))
  const time = new Date(value)
  const isValid = !Number.isNaN(time.getTime())
  return (
    <Dialog open onOpenChange={onClose} title="Jump to a time" description="Shows the lines around this time, in your time zone.">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isValid) onJump(time.toISOString())
        }}
      >
        <TextField label="Time" type="datetime-local" step="1" value={value} onChange={({ target }) => setValue(target.value)} />
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isValid}>
            Jump
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** The local time as an input has it, such as `2026-01-31T12:00:00`. */
function toLocalInput(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
