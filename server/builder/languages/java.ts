import {
  type BuildTarget,
  joinDockerfile,
  type Language,
  parseMinorVersion,
  readAny,
  readToolVersion,
  requireAny,
  requireAtLeast,
  requireVersion,
  startWith,
  unprivileged,
} from './language.ts'

const defaultVersion = '21'

/** Java and Kotlin with Maven or Gradle: Spring Boot, Quarkus, or any build that makes one runnable jar. */
export const java: Language = async (app) => {
  const pom = await app.read('pom.xml')
  const gradle = await readAny(app, ['build.gradle', 'build.gradle.kts'])
  if (pom === null && gradle === '') return null
  const manifest = pom ?? gradle
  const buildFile = pom === null ? 'build.gradle' : 'pom.xml'
  const pinned = parseMajor((await app.read('.java-version')) ?? (await readToolVersion(app, 'java')))
  const toolchain = parseMajor(/(?:JavaLanguageVersion\.of\(|jvmToolchain\()\s*(\d+)/.exec(manifest)?.[1])
  // A newer JDK compiles for an older release.
  const release = parseMajor(
    /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>\s*([\d.]+)/.exec(manifest)?.[1] ??
      /sourceCompatibility\s*=\s*(?:JavaVersion\.VERSION_)?['"]?\s*(\d+)/.exec(manifest)?.[1],
  )
  const major = pinned ?? toolchain ?? release ?? defaultVersion
  const isSpring = /spring-boot/.test(manifest)
  const isQuarkus = /quarkus/.test(manifest)
  const builds = pom === null ? planGradle(app.names) : planMaven(app.names, app.target)
  const build = app.build_command ?? builds.build
  const port = isSpring ? ' -Dserver.port=$PORT' : isQuarkus ? ` -Dquarkus.http.host=${app.target.host} -Dquarkus.http.port=$PORT` : ''
  const { output } = app.target
  // Quarkus keeps its libraries next to the jar. Spring also makes a -plain jar, which does not run.
  const collect = `mkdir -p ${output} && if [ -d ${builds.output}/quarkus-app ]; then cp -r ${builds.output}/quarkus-app/. ${output}/ && mv ${output}/quarkus-run.jar ${output}/app.jar; else cp "$(find ${builds.jars} -maxdepth 1 -name '*.jar' ! -name '*-plain.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar' ! -name 'original-*' | head -n 1)" ${output}/app.jar; fi`
  const start = app.procfile ?? `java${port} -jar app.jar`
  return {
    framework: isSpring ? 'spring-boot' : isQuarkus ? 'quarkus' : 'java',
    explanation: [`${isSpring ? 'Spring Boot' : isQuarkus ? 'Quarkus' : 'Java'} app found (${buildFile}): Java ${major}`, `Build: ${build}`],
    dockerfile: joinDockerfile(
      `FROM ${builds.image}${major} AS build`,
      'WORKDIR /src',
      app.build_command === null && app.install_command === null ? builds.dependencies : null,
      'COPY . .',
      app.install_command === null ? null : `RUN ${app.install_command}`,
      `RUN ${build} && ${collect}`,
      '',
      `FROM eclipse-temurin:${major}-jre`,
      'WORKDIR /app',
      'RUN chown 1000:1000 /app',
      unprivileged,
      'ENV JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75',
      startWith(start),
      'COPY --chown=1000:1000 --from=build /out ./',
    ),
    ignored: ['target', 'build', '.gradle', '.env', 'node_modules'],
    steps: {
      tools: [
        pinned !== null
          ? requireVersion('java', pinned, '.java-version')
          : toolchain !== null
            ? requireVersion('java', toolchain, buildFile)
            : release !== null
              ? requireAtLeast('java', release, buildFile)
              : requireAny('java'),
        // A command of the project settings may need neither.
        ...(builds.tool === null ? [] : [{ ...requireAny(builds.tool), ...(app.build_command === null ? {} : { is_optional: true as const }) }]),
      ],
      install: app.install_command,
      build: `${build} && ${collect}`,
      start,
      start_directory: output,
      discarded: [builds.output, '.gradle'],
    },
  }
}

/** Java 8 and older call themselves 1.8. */
const parseMajor = (text: string | null | undefined): string | null => parseMinorVersion(text)?.replace(/^1\./, '').split('.')[0] ?? null

interface JavaTool {
  image: string
  dependencies: string[]
  build: string
  output: string
  jars: string
  /** null: the source has its own. */
  tool: 'maven' | 'gradle' | null
}

/** The image has Maven, so its build uses no wrapper. */
const planMaven = (names: readonly string[], target: BuildTarget): JavaTool => ({
  image: 'maven:3-eclipse-temurin-',
  // Modules have their own pom.xml, so their dependencies are known only with the whole source.
  dependencies: names.includes('src/')
    ? [`COPY ${names.includes('.mvn/') ? '.mvn ./.mvn\nCOPY pom.xml' : 'pom.xml'} ./`, 'RUN mvn -B -q dependency:go-offline || true']
    : [],
  build: `${hasMavenWrapper(names, target) ? 'sh ./mvnw' : 'mvn'} -B -q -DskipTests package`,
  output: 'target',
  jars: 'target',
  tool: hasMavenWrapper(names, target) ? null : 'maven',
})

const hasMavenWrapper = (names: readonly string[], { kind }: BuildTarget): boolean => kind === 'machine' && names.includes('mvnw')

const planGradle = (names: readonly string[]): JavaTool => ({
  image: 'gradle:8-jdk',
  dependencies: [],
  build: `${names.includes('gradlew') ? 'sh ./gradlew' : 'gradle'} build -x test --no-daemon`,
  output: 'build',
  jars: 'build/libs',
  tool: names.includes('gradlew') ? null : 'gradle',
})
