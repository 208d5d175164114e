# What Cove is built from; each comes from Debian 12's packages (scripts/setup installs them).
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS filesystem)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(valijson REQUIRED)  # headers only
find_package(OpenSSL 3.0 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(Zstd REQUIRED IMPORTED_TARGET libzstd>=1.5)
pkg_check_modules(Archive REQUIRED IMPORTED_TARGET libarchive>=3.6)
pkg_check_modules(Yaml REQUIRED IMPORTED_TARGET yaml-0.1>=0.2)
pkg_check_modules(Seccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)
