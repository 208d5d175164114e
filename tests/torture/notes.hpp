/// What workers tell the one who kills them, through a pipe: each note is whole or not there,
/// whenever the worker dies.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

#include <unistd.h>

namespace torture {

struct Note {
  enum class Kind : std::uint32_t {
    kWritten,  ///< Cove acknowledged that the file is written
    kDone,     ///< some other call succeeded
    kRefused,  ///< a call ended with an error that may be
    kWrong,    ///< something that must not be; `text` says what
  };
  Kind kind = Kind::kDone;
  std::uint32_t user = 0;
  std::uint64_t file = 0;
  char text[240] = {};
};
static_assert(sizeof(Note) <= 512, "a pipe keeps a write of 512 bytes whole everywhere");

inline bool send(int pipe, const Note& note) {
  return ::write(pipe, &note, sizeof note) == static_cast<ssize_t>(sizeof note);
}

inline Note wrong(std::uint32_t user, const std::string& text) {
  Note note;
  note.kind = Note::Kind::kWrong;
  note.user = user;
  std::strncpy(note.text, text.c_str(), sizeof note.text - 1);
  return note;
}

/// The name of a file below /workspace, which is its content too.
inline std::string file_name(std::uint64_t file) {
  std::string name = "f";
  name += std::to_string(file);
  return name;
}

}  // namespace torture
