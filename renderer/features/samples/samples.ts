/// <reference types="vite/client" />
import { createTarGz } from './tar-gz.ts'
import list from '../../../resources/samples/samples.json'

/** An app that lies with Homeport, to see how it goes. */
export interface Sample {
  name: string
  title: string
  about: string
  /** What of Homeport it shows. */
  shows: string
}

export const samples: Sample[] = list

// All in one chunk, that is loaded when somebody takes one.
const contents = import.meta.glob<string>(['../../../resources/samples/*/*'], { query: '?raw', import: 'default', eager: true })

/** A sample as the archive that an upload takes. */
export function createSampleArchive(name: string): Promise<File> {
  return createTarGz(name, sampleFiles(name))
}

/** Its files, by their path inside of it. */
export function sampleFiles(name: string): { path: string; text: string }[] {
  const folder = `/resources/samples/${name}/`
  return Object.entries(contents)
    .filter(([path]) => path.includes(folder))
    .map(([path, text]) => ({ path: path.slice(path.indexOf(folder) + folder.length), text }))
}
