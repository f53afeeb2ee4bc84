import { limits } from '../../../server/contract/limits.ts'

/** The text of a selected or dropped file. It stays in the browser. */
export async function readEnvFile(file: File): Promise<{ text: string; error: string | null }> {
  if (file.size > limits.body_bytes) return { text: '', error: `“${file.name}” is too large for a .env file: more than 1 MB.` }
  return file.text().then(
    (text) => ({ text, error: null }),
    () => ({ text: '', error: `“${file.name}” cannot be read. Check that it is a file, not a folder.` }),
  )
}
