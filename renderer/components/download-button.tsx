import { Download } from 'lucide-react'
import { useState } from 'react'
import { formatBytes } from '../lib/format.ts'
import { Button } from './button.tsx'

/** How long the object URL is kept for the browser to start saving (ms). */
const revokeDelay_ms = 60_000

/** Saves what `load` returns; null saves nothing. */
export function DownloadButton({
  load,
  name,
  label,
}: {
  load: (onProgress: (bytes: number) => void) => Promise<Blob | null>
  name: string
  label?: string
}) {
  const [received_bytes, setReceived] = useState<number>()
  const save = async () => {
    setReceived(0)
    const file = await load(setReceived)
    setReceived(undefined)
    if (!file) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(file)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), revokeDelay_ms)
  }
  return (
    <Button icon={Download} busy={received_bytes !== undefined} aria-label={label} onClick={() => void save()}>
      {received_bytes ? formatBytes(received_bytes) : 'Download'}
    </Button>
  )
}
