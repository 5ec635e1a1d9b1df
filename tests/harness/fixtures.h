// SPDX-License-Identifier: GPL-3.0-or-later
// fixtures.h - the two observations of the Meta-Harness specification, 1.6.
#pragma once

#define OBS_A                                                                                      \
    "Task: solve the chess puzzle one move at a time.\n"                                           \
    "Side to move: Black\n"                                                                        \
    "FEN: 8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64\n"                                          \
    "Board:\n"                                                                                     \
    "8 . . . . . . . .\n"                                                                          \
    "7 . . . . . R . .\n"                                                                          \
    "6 . p . . P . . .\n"                                                                          \
    "5 p . . . . r . .\n"                                                                          \
    "4 P . . . . . . p\n"                                                                          \
    "3 . P . . . P k .\n"                                                                          \
    "2 . . . . K . . .\n"                                                                          \
    "1 . . . . . . . .\n"                                                                          \
    "  a b c d e f g h\n"                                                                          \
    "Puzzle move number: 1\n"                                                                      \
    "Legal moves:\n"                                                                               \
    "- [b6b5] SAN=b5\n"                                                                            \
    "- [f5b5] SAN=Rb5\n"                                                                           \
    "- [f5c5] SAN=Rc5\n"                                                                           \
    "- [f5d5] SAN=Rd5\n"                                                                           \
    "- [f5e5] SAN=Re5+\n"                                                                          \
    "- [f5f3] SAN=Rxf3\n"                                                                          \
    "- [f5f4] SAN=Rf4\n"                                                                           \
    "- [f5f6] SAN=Rf6\n"                                                                           \
    "- [f5f7] SAN=Rxf7\n"                                                                          \
    "- [f5g5] SAN=Rg5\n"                                                                           \
    "- [f5h5] SAN=Rh5\n"                                                                           \
    "- [g3f4] SAN=Kf4\n"                                                                           \
    "- [g3g2] SAN=Kg2\n"                                                                           \
    "- [g3h2] SAN=Kh2\n"                                                                           \
    "- [g3h3] SAN=Kh3\n"                                                                           \
    "- [h4h3] SAN=h3"
#define OBS_B                                                                                      \
    "Task: solve the chess puzzle one move at a time.\n"                                           \
    "Side to move: Black\n"                                                                        \
    "FEN: 8/5R2/1p2P3/p3r3/P6p/1P3Pk1/8/5K2 b - - 4 65\n"                                          \
    "Board:\n"                                                                                     \
    "8 . . . . . . . .\n"                                                                          \
    "7 . . . . . R . .\n"                                                                          \
    "6 . p . . P . . .\n"                                                                          \
    "5 p . . . r . . .\n"                                                                          \
    "4 P . . . . . . p\n"                                                                          \
    "3 . P . . . P k .\n"                                                                          \
    "2 . . . . . . . .\n"                                                                          \
    "1 . . . . . K . .\n"                                                                          \
    "  a b c d e f g h\n"                                                                          \
    "Last opponent reply: e2f1\n"                                                                  \
    "Your accepted moves so far: f5e5\n"                                                           \
    "Puzzle move number: 2\n"                                                                      \
    "Legal moves:\n"                                                                               \
    "- [b6b5] SAN=b5\n"                                                                            \
    "- [e5b5] SAN=Rb5\n"                                                                           \
    "- [e5c5] SAN=Rc5\n"                                                                           \
    "- [e5d5] SAN=Rd5\n"                                                                           \
    "- [e5e1] SAN=Re1+\n"                                                                          \
    "- [e5e2] SAN=Re2\n"                                                                           \
    "- [e5e3] SAN=Re3\n"                                                                           \
    "- [e5e4] SAN=Re4\n"                                                                           \
    "- [e5e6] SAN=Rxe6\n"                                                                          \
    "- [e5f5] SAN=Rf5\n"                                                                           \
    "- [e5g5] SAN=Rg5\n"                                                                           \
    "- [e5h5] SAN=Rh5\n"                                                                           \
    "- [g3h2] SAN=Kh2\n"                                                                           \
    "- [g3h3] SAN=Kh3\n"                                                                           \
    "- [h4h3] SAN=h3"
