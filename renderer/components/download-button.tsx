import { Download } from 'lucide-react'
import { useState } from 'react'
import { formatBytes } from '../lib/format.ts'
import { saveFile } from '../lib/save-file.ts'
import { Button } from './button.tsx'

/** Saves what `load` returns; null saves nothing. */
export function DownloadButton({
  load,
  name,
  label,
  text = 'Download',
}: {
  load: (onProgress: (bytes: number) => void) => Promise<Blob | null>
  name: string
  label?: string
  text?: string
}) {
  const [received_bytes, setReceived] = useState<number>()
  const save = async () => {
    setReceived(0)
    const file = await load(setReceived)
    setReceived(undefined)
    if (file) saveFile(file, name)
  }
  return (
    <Button icon={Download} busy={received_bytes !== undefined} aria-label={label} onClick={() => void save()}>
      {received_bytes ? formatBytes(received_bytes) : text}
    </Button>
  )
}
