import { limits } from '../../../server/contract/limits.ts'

/** The text of a chosen or dropped file. It stays in the browser. */
export async function readEnvFile(file: File): Promise<{ text: string; error: string | null }> {
  if (file.size > limits.body_bytes) return { text: '', error: `“${file.name}” is too large for a .env file: more than 1 MB.` }
  return file.text().then(
    (text) => ({ text, error: null }),
    () => ({ text: '', error: `“${file.name}” cannot be read. Check that it is a file, not a folder.` }),
  )
}

/** Downloads a text through a temporary object URL. */
export function downloadText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
