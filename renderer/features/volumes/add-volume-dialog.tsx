import { useServices } from '../../api/services.ts'
import { useAddVolume } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { useForm } from '../../lib/use-form.ts'

/** Adds a volume at a path of the app. */
export function AddVolumeDialog({ slug, onClose, onAdded }: { slug: string; onClose: () => void; onAdded: (deploymentId: string | null) => void }) {
  const { data } = useServices(slug, null)
  const services = data?.services.filter(({ kind, is_main }) => kind !== 'cron' || is_main) ?? []
  const add = useAddVolume({
    hidesErrorToast: true,
    successMessage: ({ volume, path }) => `Added the volume ${volume} at ${path}.`,
    onSuccess({ deployment_id }) {
      onAdded(deployment_id)
      onClose()
    },
  })
  const form = useForm({
    initial: { path: '', service: '' },
    submission: add,
    onSubmit: ({ path, service }) => add.mutate({ params: { slug }, body: { path: path.trim(), ...(service !== '' && { service }) } }),
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add volume"
      description="Keeps the files at a path across deployments. The project is redeployed, and the volume starts with the files that the live version has there; requests wait during the copy."
    >
      <form className="stack" {...form.props}>
        <TextField
          label="Path"
          mono
          required
          {...form.text('path')}
          placeholder="public/uploads"
          hint="A folder, or an SQLite file such as data.db. Relative to the app’s folder, or absolute."
        />
        {services.length > 1 && (
          <SelectField label="Service" value={form.values.service} onChange={({ target }) => form.set({ service: target.value })}>
            {services.map(({ name, is_main }) => (
              <option key={name} value={is_main ? '' : name}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Add volume
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
