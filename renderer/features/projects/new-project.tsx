import { useUi } from '../../stores/ui.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SourceForm } from './source-form.tsx'

export default function NewProject() {
  const setOpen = useUi((state) => state.setNewProjectOpen)
  return (
    <Dialog open onOpenChange={setOpen} title="New project" about="From a folder or a git address to a live address.">
      <SourceForm onDone={() => setOpen(false)} />
    </Dialog>
  )
}
