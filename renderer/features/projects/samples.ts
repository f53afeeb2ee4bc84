/// <reference types="vite/client" />
import { createTarGz } from './tar-gz.ts'
import list from '../../../resources/samples/samples.json'

/** A sample app that ships with Homeport. */
export interface Sample {
  name: string
  title: string
  about: string
  /** The features that it demonstrates. */
  shows: string
}

export const samples: Sample[] = list

// One chunk, loaded on demand.
const contents = import.meta.glob<string>(['../../../resources/samples/*/*'], { query: '?raw', import: 'default', eager: true })

/** The sample as an archive for an upload. */
export function createSampleArchive(name: string): Promise<File> {
  return createTarGz(name, sampleFiles(name))
}

/** Its files by path. */
export function sampleFiles(name: string): { path: string; text: string }[] {
  const folder = `/resources/samples/${name}/`
  return Object.entries(contents)
    .filter(([path]) => path.includes(folder))
    .map(([path, text]) => ({ path: path.slice(path.indexOf(folder) + folder.length), text }))
}
