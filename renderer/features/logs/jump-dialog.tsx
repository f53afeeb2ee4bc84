import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { useForm } from '../../lib/use-form.ts'

/** Asks for a time in the time zone of the browser. `onJump` gets it in UTC. */
export function JumpDialog({ onJump, onClose }: { onJump: (time: string) => void; onClose: () => void }) {
  const [now] = useState(() => toLocalInput(new Date()))
  const form = useForm({ initial: { time: now }, onSubmit: ({ time }) => onJump(new Date(time).toISOString()) })
  return (
    <Dialog open onOpenChange={onClose} title="Jump to a time" description="Shows the lines around this time, in your time zone.">
      <form className="stack" {...form.props}>
        <TextField label="Time" type="datetime-local" step="1" required {...form.text('time')} />
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={form.values.time === ''}>
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
