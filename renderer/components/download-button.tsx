import { Download } from 'lucide-react'
import { useState } from 'react'
import { fetchFile } from '../api/fetch-file.ts'
import { toProblem } from '../lib/api-problem.ts'
import { useUi } from '../stores/ui.ts'
import { Button } from './button.tsx'
import { formatBytes } from '../lib/format.ts'

/** How long the object URL is kept for the browser to start saving (ms). */
const revokeDelay_ms = 60_000

/** Saves a file of the instance. The page fetches it, because a link cannot send the session header. The browser keeps large blobs on disk. */
export function DownloadButton({ url, name, label }: { url: string; name: string; label?: string }) {
  const [received_bytes, setGot] = useState<number>()
  const showToast = useUi((state) => state.showToast)
  const save = async () => {
    setGot(0)
    try {
      const file = await fetchFile(url, { signal: new AbortController().signal, max_bytes: Infinity, onProgress: setGot })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(file)
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), revokeDelay_ms)
    } catch (error) {
      const { message, request_id } = toProblem(error)
      showToast({ kind: 'failed', text: message, request_id })
    }
    setGot(undefined)
  }
  return (
    <Button icon={Download} busy={received_bytes !== undefined} aria-label={label} onClick={() => void save()}>
      {received_bytes ? formatBytes(received_bytes) : 'Download'}
    </Button>
  )
}
