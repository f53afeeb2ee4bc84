import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { ArchiveQuarantine } from '../../server/source/archive.ts'
import type { HostileArchive } from '../support/hostile-archives.ts'

export async function* inPieces(bytes: Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** It is refused with this reason, and nothing of it is left in the quarantine. */
export async function expectRefusal(archives: ArchiveQuarantine, quarantine: string, { bytes, expected_error: says }: HostileArchive): Promise<void> {
  const refused = archives.receive(inPieces(bytes()), new AbortController().signal)
  await expect(refused).rejects.toMatchObject({ name: 'ArchiveError', code: 'invalid_archive', message: expect.stringMatching(says) })
  expect(readdirSync(quarantine)).toEqual([])
}
