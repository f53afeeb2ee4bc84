/**
 * `node test/packaging/foreign-package.ts FOLDER darwin|win32`: a package for another system, around a fake of its Electron.
 * The binaries in it (Node) are this machine's; everything that the configuration decides is real. The current system is ignored.
 */
import { Arch, build, type Configuration, Platform } from 'electron-builder'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import config from '../../resources/package/electron-builder.ts'
import { root } from '../support/instance-process.ts'
import { fuseWire } from './fake-electron-dist.ts'

const folder = process.argv[2]!
const electron = join(folder, 'electron')
const writeProgram = (path: string, text: string | Uint8Array) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: 0o755 })
}

function writeMacElectron(): void {
  const contents = join(electron, 'Electron.app/Contents')
  const plist = (name: string) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>CFBundleExecutable</key><string>${name}</string><key>CFBundleIdentifier</key><string>example</string></dict></plist>`
  const app = (at: string, name: string) => {
    writeProgram(join(at, 'Info.plist'), plist(name))
    writeProgram(join(at, 'MacOS', name), name)
  }
  app(contents, 'Electron')
  for (const kind of ['', ' (GPU)', ' (Renderer)', ' (Plugin)'])
    app(join(contents, `Frameworks/Electron Helper${kind}.app/Contents`), `Electron Helper${kind}`)
  writeProgram(join(contents, 'Frameworks/Electron Framework.framework/Electron Framework'), fuseWire)
  writeProgram(join(contents, 'Frameworks/Electron Framework.framework/Versions/A/Resources/en.lproj/locale.pak'), 'en')
  writeProgram(join(contents, 'Resources/electron.icns'), 'icns')
}

/** The program with which electron-builder itself writes resources of binaries. */
interface Resedit {
  NtExecutable: { createEmpty(is32Bit: boolean, isDLL: boolean): { generate(): ArrayBuffer } }
  NtExecutableResource: { from(program: object): { entries: object[]; outputResource(program: object): void } }
  Resource: {
    VersionInfo: { createEmpty(): { setStringValues(lang: object, values: object): void; outputToResourceEntries(entries: object[]): void } }
  }
}

function writeWindowsElectron(): void {
  const { NtExecutable, NtExecutableResource, Resource } = createRequire(createRequire(import.meta.url).resolve('electron-builder'))(
    'resedit',
  ) as Resedit
  const program = NtExecutable.createEmpty(false, false)
  const resource = NtExecutableResource.from(program)
  const english = { lang: 0x0409, codepage: 1200 }
  const version = Resource.VersionInfo.createEmpty()
  version.setStringValues(english, { ProductName: 'Electron' })
  version.outputToResourceEntries(resource.entries)
  resource.entries.push({ type: 'FUSES', id: 'WIRE', bin: Uint8Array.from(fuseWire).buffer, ...english })
  resource.outputResource(program)
  writeProgram(join(electron, 'electron.exe'), new Uint8Array(program.generate()))
  for (const name of ['ffmpeg.dll', 'locales/en-US.pak', 'locales/de.pak']) writeProgram(join(electron, name), name)
}

const system = process.argv[3] === 'win32' ? 'win32' : 'darwin'
for (const name of ['LICENSE', 'LICENSES.chromium.html', 'version']) writeProgram(join(electron, name), name)
if (system === 'win32') writeWindowsElectron()
else writeMacElectron()

const own: Configuration =
  system === 'win32'
    ? {}
    : {
        // Without it @electron/fuses would sign again with a program that only macOS has.
        electronFuses: { ...config.electronFuses, resetAdHocDarwinSignature: false },
        mac: { ...config.mac, identity: null },
      }
await build({
  projectDir: root,
  publish: 'never',
  targets: (system === 'win32' ? Platform.WINDOWS : Platform.MAC).createTarget('dir', process.arch === 'x64' ? Arch.x64 : Arch.arm64),
  config: {
    ...config,
    ...own,
    directories: { ...config.directories, output: join(folder, 'dist') },
    electronDist: electron,
    // It refuses binaries of another platform.
    beforePack: undefined,
  },
})
