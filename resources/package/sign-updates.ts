/**
 * Signs the updates for Linux, whose packages no system verifies (README.md, Packages).
 *
 *     node resources/package/sign-updates.ts new-key FILE      makes a private key; its public half is HOMEPORT_UPDATE_KEY while building
 *     node resources/package/sign-updates.ts FILE [FOLDER]     signs latest-linux*.yml in FOLDER (dist)
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parse } from 'yaml'
import { isUpdateFeedEntry, verifyUpdateSignature, signatureField, signedPayload } from '../../main/update-signature.ts'

const [first, second] = process.argv.slice(2)
try {
  if (first === 'new-key' && second !== undefined) generateKey(second)
  else if (first !== undefined && first !== 'new-key') await signFeeds(first, second ?? 'dist')
  else throw new Error('Usage: sign-updates.ts new-key FILE, or sign-updates.ts FILE [FOLDER]')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function generateKey(file: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  // Never overwrites an existing key: without it, existing installations would get no more updates.
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  console.log(publicKey.export({ type: 'spki', format: 'der' }).toString('base64'))
}

async function signFeeds(keyFile: string, folder: string): Promise<void> {
  const key = createPrivateKey(readFileSync(keyFile))
  const publicHalf = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
  const feeds = readdirSync(folder).filter((name) => /^latest-linux.*\.yml$/.test(name))
  if (feeds.length === 0) throw new Error(`${folder} contains no latest-linux.yml. Build with HOMEPORT_UPDATE_URL first.`)
  for (const name of feeds) {
    const path = join(folder, name)
    const text = readFileSync(path, 'utf8').replaceAll(new RegExp(`^${signatureField}:.*\\n?`, 'gm'), '')
    const entry: unknown = parse(text)
    if (!isUpdateFeedEntry(entry)) throw new Error(`${name} does not list its files with their sha512.`)
    for (const { url, sha512 } of entry.files)
      if ((await hashFile(join(folder, basename(url)))) !== sha512)
        throw new Error(`${url} does not match its sha512 in ${name}. Nothing was signed.`)
    const signed = `${text.trimEnd()}\n${signatureField}: ${sign(null, Buffer.from(signedPayload(entry)), key).toString('base64')}\n`
    if (!verifyUpdateSignature(parse(signed), publicHalf)) throw new Error(`The signature of ${name} could not be verified.`)
    writeFileSync(path, signed)
    console.log(`${name}: ${entry.version}, ${entry.files.length} files`)
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(file), hash)
  return hash.digest('base64')
}
