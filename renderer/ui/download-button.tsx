import { Download } from 'lucide-react'
import { useState } from 'react'
import { fetchFile } from '../api/fetch-file.ts'
import { problemFrom } from '../api/problem.ts'
import { useUi } from '../stores/ui.ts'
import { Button } from './button.tsx'
import { bytes } from './format.ts'

/** How long the browser may take to begin to save (ms). */
const handover_ms = 60_000

/** Saves a file of the instance. The page fetches it, since a link could not say who asks; of a large one the browser keeps the bytes on disk. */
export function DownloadButton({ url, name, label }: { url: string; name: string; label?: string }) {
  const [got, setGot] = useState<number>()
  const showToast = useUi((state) => state.showToast)
  const save = async () => {
    setGot(0)
    try {
      const file = await fetchFile(url, { signal: new AbortController().signal, most_bytes: Infinity, onProgress: setGot })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(file)
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), handover_ms)
    } catch (error) {
      const { message, request_id } = problemFrom(error)
      showToast({ kind: 'failed', text: message, request_id })
    }
    setGot(undefined)
  }
  return (
    <Button icon={Download} busy={got !== undefined} aria-label={label} onClick={() => void save()}>
      {got ? bytes(got) : 'Download'}
    </Button>
  )
}
