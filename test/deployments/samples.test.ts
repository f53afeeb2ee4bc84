import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleFiles, samples } from '../../renderer/features/projects/samples.ts'

const samplesFolder = join(import.meta.dirname, '../../resources/samples')

test('each sample is listed, has a page or a start script, and no dependencies', async () => {
  const folders = (await readdir(samplesFolder, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(samples.map(({ name }) => name).toSorted()).toEqual(folders.toSorted())
  for (const name of folders) {
    const files = sampleFiles(name)
    expect(files.map(({ path }) => path).toSorted()).toEqual((await readdir(join(samplesFolder, name))).toSorted())
    for (const { path, text } of files) expect(text).toBe(await readFile(join(samplesFolder, name, path), 'utf8'))
    const manifest = files.find(({ path }) => path === 'package.json')
    if (manifest) expect(Object.keys(JSON.parse(manifest.text))).toEqual(['name', 'private', 'type', 'scripts'])
    else expect(files.map(({ path }) => path)).toContain('index.html')
  }
})
